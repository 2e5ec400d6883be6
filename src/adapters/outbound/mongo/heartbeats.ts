import type { MongoClient } from 'mongodb';

/** Beyond what the driver itself grants a check: a busy process hears of its end late. */
const MARGIN_MS = 2_000;

/**
 * Calls back where the driver's check of a server never ends. Where a connection breaks in the moment in which a check
 * begins, mongodb 7.8 waits for it without a time-out, believes that the server is gone, and never looks again: such a
 * client is of no use any more.
 */
export function onStuckHeartbeat(client: MongoClient, stuck: () => void): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  // 0 is the driver's word for no bound.
  if (connectTimeoutMS === 0) return;
  const limitMs = connectTimeoutMS + heartbeatFrequencyMS + MARGIN_MS;
  const running = new Map<string, NodeJS.Timeout>();
  const end = (address: string) => {
    clearTimeout(running.get(address));
    running.delete(address);
  };
  client.on('serverHeartbeatStarted', ({ connectionId: address }) => {
    end(address);
    running.set(address, setTimeout(stuck, limitMs).unref());
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => end(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => end(connectionId));
  client.on('serverClosed', ({ address }) => end(address));
}
