/** A stream of records as NDJSON. It takes each record from the source when it is needed. */
export function asNdjson(source: AsyncGenerator<object>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await source.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    async cancel() {
      await source.return(undefined);
    },
  });
}

/** Yields all records, of a synchronous or an asynchronous source. */
export async function* iterate(records: Iterable<object> | AsyncIterable<object>): AsyncGenerator<object, undefined> {
  yield* records;
}

/**
 * Yields the parsed lines of a response as they arrive.
 * @throws Error if the response is interrupted
 */
export async function* readLines<T>({ body }: Response): AsyncGenerator<T, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + read.value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as T;
    }
    if (rest !== '') throw new Error('The response broke off within a line');
  } finally {
    await reader.cancel().catch(() => {});
  }
}
