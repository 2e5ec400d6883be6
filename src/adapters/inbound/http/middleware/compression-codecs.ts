import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

/** A content coding of responses (RFC 9110 section 8.4.1), beside none. */
export type Coding = 'br' | 'gzip';

/** Both codecs work on Node's thread pool, so that a large response delays no other. */
export interface Codec {
  whole(bytes: Buffer): Promise<Buffer>;
  /** Flushes after each piece, so that a line is not kept back until others fill a block. */
  stream(): Transform;
}

/** A document whose codings are kept. */
export interface CodedDocument {
  coded(coding: Coding): Promise<Buffer>;
}

/** RFC 9110 sections 12.4.2 and 12.5.3: a coding, with an optional weight. */
const ELEMENT = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/** Level 6 takes two to three times as long for a fifth less. */
const GZIP = { level: 4 };

/** As expensive as that gzip. The window is 256 KiB; the default of 4 MiB would be kept for each stream. */
const BROTLI = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: 18,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};

const gzipWhole = promisify<Buffer, object, Buffer>(gzip);
const brotliWhole = promisify<Buffer, object, Buffer>(brotliCompress);

export const CODECS: Readonly<Record<Coding, Codec>> = {
  gzip: {
    whole: (bytes) => gzipWhole(bytes, GZIP),
    stream: () => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }),
  },
  br: {
    whole: (bytes) => brotliWhole(bytes, BROTLI),
    stream: () => createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
};

/**
 * The coding with the highest weight, if the client does not prefer an uncoded response. At equal weights br wins,
 * which is smaller at about the same cost. `*` alone selects gzip. If the client names neither br nor gzip, the
 * response is not coded, even if `identity` is refused. By hand: Koa's `acceptsEncodings` breaks ties by the order in
 * the header, so the `gzip, deflate, br` of every browser would select gzip, and it accepts malformed weights.
 */
export function preferredCoding(acceptEncoding: string): Coding | undefined {
  const weights = weightsIn(acceptEncoding);
  const other = weights.get('*') ?? 0;
  const [br, gzip, none] = [
    weights.get('br') ?? 0,
    weights.get('gzip') ?? other,
    weights.get('identity') ?? other,
  ];
  const best = Math.max(br, gzip);
  if (best === 0 || best < none) return undefined;
  return br === best ? 'br' : 'gzip';
}

/** Empty if any element is malformed, because it is then unknown what the client accepts. */
function weightsIn(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const text = element.trim();
    if (text === '') continue;
    const [, coding, weight = '1'] = ELEMENT.exec(text) ?? [];
    if (coding === undefined) return new Map();
    weights.set(coding, Number(weight));
  }
  return weights;
}
