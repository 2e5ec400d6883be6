import { expect } from 'chai';
import { onShutdownSignal } from '#src/process/exit.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
type Signal = (typeof SIGNALS)[number];

describe('a signal to stop', () => {
  const others = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  afterEach(() => {
    for (const signal of SIGNALS)
      for (const listener of process.listeners(signal))
        if (!others.get(signal)?.includes(listener)) process.removeListener(signal, listener);
  });

  /** Sends signals at these times, in milliseconds, to a process that takes forever to stop. @returns what they cause */
  const effectOf = (signals: string) => {
    const effects: (string | number)[] = [];
    let elapsed = 0;
    const stop = () => {
      effects.push('stop');
      return new Promise<never>(() => {});
    };
    onShutdownSignal(
      stop,
      (exitCode) => effects.push(exitCode),
      () => elapsed,
    );
    for (const [atMs, name] of signals.split(', ').map((sent) => sent.split(' '))) {
      const signal = name as Signal;
      elapsed = Number(atMs);
      for (const listener of process.listeners(signal)) if (!others.get(signal)?.includes(listener)) listener(signal);
    }
    return effects;
  };

  for (const [what, signals, effects] of [
    ['stops the service', '0 SIGINT', ['stop']],
    ['as SIGTERM again, ends the process', '0 SIGTERM, 0 SIGTERM', ['stop', 143]],
    ['as SIGTERM after SIGINT, ends the process', '0 SIGINT, 0 SIGTERM', ['stop', 143]],
    ['as SIGINT again within 250 ms, as npm sends it, is the same signal', '0 SIGINT, 250 SIGINT', ['stop']],
    ['as SIGINT again later, ends the process', '0 SIGINT, 251 SIGINT', ['stop', 130]],
  ] as const)
    it(what, () => {
      expect(effectOf(signals)).to.deep.equal(effects);
    });
});
