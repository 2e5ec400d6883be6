import { useCallback, useEffect, useState } from 'preact/hooks';

interface Load<Value> {
  /** What was loaded last. While something else loads, it stays, so that the page does not jump. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): void;
}

/**
 * Loads a value, and again whenever the key changes. A load that is overtaken is aborted.
 * @param key what is loaded: anything that differs from what was loaded before
 */
export function useLoad<Value>(key: unknown, load: (signal: AbortSignal) => Promise<Value>): Load<Value> {
  const [state, setState] = useState<Omit<Load<Value>, 'reload'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const aborter = new AbortController();
    setState(({ value }) => ({ value, error: undefined, isLoading: true }));
    const finish = (result: { value: Value } | { error: unknown }) => {
      if (aborter.signal.aborted) return;
      setState(({ value }) => ({ value, error: undefined, ...result, isLoading: false }));
    };
    load(aborter.signal).then(
      (value) => finish({ value }),
      (error: unknown) => finish({ error }),
    );
    return () => aborter.abort();
  }, [key, attempt]);
  const reload = useCallback(() => setAttempt((number) => number + 1), []);
  return { ...state, reload };
}

/** Something that a person starts, and why it failed last. Meanwhile it is not started again. */
export function useAction(action: () => Promise<void>) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    await action().catch(setProblem);
    setBusy(false);
  };
  return { run: () => void (isBusy || run()), isBusy, problem };
}
