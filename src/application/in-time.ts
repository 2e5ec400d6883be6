/**
 * Calls back after so many milliseconds, and after whatever then lies in the sockets has been read: a pause of this
 * process is not held against the server. May still call back right after `clearTimeout`.
 */
export function afterReading(ms: number, call: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(call), ms);
}

/** @throws Error where the answer is not there after so many milliseconds; a later one is dropped */
export function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = afterReading(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
