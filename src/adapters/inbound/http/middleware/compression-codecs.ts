import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Coding } from '../accept-encoding.js';

/** Both work on Node's thread pool, so that a large answer holds up no other. */
export interface Codec {
  whole(bytes: Buffer): Promise<Buffer>;
  /** Of what goes in, all comes out before more goes in: a line is not kept back until others fill a block. */
  stream(): Transform;
}

/** A document whose codings are kept. */
export interface CodedDocument {
  coded(coding: Coding): Promise<Buffer>;
}

/** Level 6 takes two to three times as long for a fifth less. */
const GZIP = { level: 4 };

/** As dear as that gzip. The window is 256 KiB; the usual one of 4 MiB would be kept for each stream. */
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
