import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A piece of what is spooled, in a file without a name: it is gone with its last handle, however the process ends. */
export class SpoolSegment {
  private written = 0;
  private read = 0;

  private constructor(private readonly file: FileHandle) {}

  /** @param folder made where it is missing */
  static async open(folder: string): Promise<SpoolSegment> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = join(folder, randomUUID());
    const file = await open(name, 'wx+', 0o600);
    try {
      await unlink(name);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new SpoolSegment(file);
  }

  get size(): number {
    return this.written;
  }

  get isRead(): boolean {
    return this.read === this.written;
  }

  async append(bytes: Buffer): Promise<void> {
    // Positioned: reading and writing share the file's own place. A write may take a part only, where the disk is nearly full.
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, this.written);
      done += bytesWritten;
      this.written += bytesWritten;
    }
  }

  /** @returns the next bytes, at most so many */
  async next(maxBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(maxBytes, this.written - this.read));
    const { bytesRead } = await this.file.read(bytes, 0, bytes.length, this.read);
    this.read += bytesRead;
    return bytes.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
