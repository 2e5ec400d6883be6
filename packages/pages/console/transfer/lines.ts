/** How many lines are joined: a browser keeps blobs outside the memory of the page. */
const JOINED = 1_000;

/** A file of NDJSON that grows line by line. */
export class Lines {
  private readonly blobs: Blob[] = [];
  private texts: string[] = [];

  add(record: object): void {
    this.texts.push(`${JSON.stringify(record)}\n`);
    if (this.texts.length === JOINED) this.join();
  }

  asFile(name: string): File {
    this.join();
    return new File(this.blobs, name, { type: 'application/x-ndjson' });
  }

  private join(): void {
    this.blobs.push(new Blob(this.texts));
    this.texts = [];
  }
}
