import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib';
import type { HttpResponse } from './http-client.js';

/** The content codings of the service, with their decoders. */
export const CODINGS = {
  gzip: { whole: gunzipSync, stream: () => createGunzip() },
  br: { whole: brotliDecompressSync, stream: () => createBrotliDecompress() },
} as const;

type Coding = keyof typeof CODINGS;
export const CODING_NAMES = Object.keys(CODINGS) as Coding[];

/** Returns the decoded body. */
export function decoded({ headers, bytes }: HttpResponse): string {
  const coding = headers['content-encoding'];
  return (coding === undefined ? bytes : CODINGS[coding as Coding].whole(bytes)).toString('utf8');
}
