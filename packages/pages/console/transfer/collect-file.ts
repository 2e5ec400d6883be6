/** The page hands its bytes over to the browser in pieces of this size. */
const PIECE_BYTES = 8 * 1_048_576;

/**
 * Collects a response in a file. A browser keeps blobs outside the memory of the page, and large ones on its disk.
 * @param onBytes called with the number of bytes so far
 * @throws TypeError if the response is interrupted
 */
export async function collectFile(
  stream: ReadableStream<Uint8Array>,
  { name, type }: { readonly name: string; readonly type: string },
  onBytes: (bytes: number) => void,
): Promise<File> {
  const blobs: Blob[] = [];
  let piece: Uint8Array<ArrayBuffer>[] = [];
  let pieceBytes = 0;
  let bytes = 0;
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    piece.push(read.value as Uint8Array<ArrayBuffer>);
    pieceBytes += read.value.length;
    bytes += read.value.length;
    onBytes(bytes);
    if (pieceBytes < PIECE_BYTES) continue;
    blobs.push(new Blob(piece));
    piece = [];
    pieceBytes = 0;
  }
  return new File([...blobs, ...piece], name, { type });
}
