import type { Socket } from 'node:net';

/**
 * Reads on from a socket that was paused. Node pauses it too, and its parser with it, while more is to be sent than the socket
 * takes; then it is read on when that has drained. A parser that is paused would take no byte, and report HPE_PAUSED.
 */
export function resumeReading(socket: Socket): void {
  if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
  else socket.resume();
}
