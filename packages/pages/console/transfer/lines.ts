/** How many lines are joined: a browser keeps blobs outside the memory of the page. */
const JOINED = 1_000;

/** A file of NDJSON. */
export async function linesFile(name: string, records: Iterable<object> | AsyncIterable<object>): Promise<File> {
  const blobs: Blob[] = [];
  let lines: string[] = [];
  for await (const record of records)
    if (lines.push(`${JSON.stringify(record)}\n`) === JOINED) {
      blobs.push(new Blob(lines));
      lines = [];
    }
  return new File([...blobs, ...lines], name, { type: 'application/x-ndjson' });
}
