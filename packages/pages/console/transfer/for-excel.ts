/** UTF-8's, without which Excel takes a file for the encoding of the country. */
const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** What Excel takes for the beginning of a formula: `=`, `+`, `-`, `@`, a tab. */
const FORMULA = [0x3d, 0x2b, 0x2d, 0x40, 0x09];

/** CSV that Excel opens with the right letters, and that an import takes. */
export function withMark(csv: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const start = (controller: TransformStreamDefaultController<Uint8Array>) => controller.enqueue(BYTE_ORDER_MARK);
  return csv.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ start }));
}

/**
 * CSV for Excel: with a byte order mark, and with an apostrophe before each cell that would be a formula. The data are
 * then others than the service has, so the file is not for an import.
 * @param csv valid CSV (RFC 4180) in UTF-8
 */
export function forExcel(csv: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let isStart = true;
  let isQuoted = false;
  const guard = (chunk: Uint8Array) => {
    const places: number[] = [];
    for (const [at, byte] of chunk.entries()) {
      if (byte === QUOTE) {
        isStart &&= !isQuoted;
        isQuoted = !isQuoted;
        continue;
      }
      const isLineEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (isStart && (FORMULA.includes(byte) || (isQuoted && isLineEnd))) places.push(at);
      isStart = !isQuoted && (byte === COMMA || isLineEnd);
    }
    return places;
  };
  const guarded = csv.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        let from = 0;
        for (const at of guard(chunk)) {
          controller.enqueue(chunk.subarray(from, at));
          controller.enqueue(Uint8Array.of(APOSTROPHE));
          from = at;
        }
        controller.enqueue(chunk.subarray(from));
      },
    }),
  );
  return withMark(guarded);
}
