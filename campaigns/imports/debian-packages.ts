import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface RealProduct {
  readonly name: string;
  readonly sku?: string;
  readonly description: string;
}

const MAX_NAME = 200;
const MAX_DESCRIPTION = 5_000;
const SKU = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns every package that `apt-cache dumpavail` lists, as a product. */
export async function* debianPackages(): AsyncGenerator<RealProduct> {
  const apt = spawn('apt-cache', ['dumpavail'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => apt.once('error', reject).once('close', resolve));
  let record: string[] = [];
  for await (const line of createInterface({ input: apt.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') record.push(line);
    else if (record.length > 0) {
      yield productOf(record);
      record = [];
    }
  }
  if (record.length > 0) yield productOf(record);
  const code = await ended;
  if (code !== 0) throw new Error(`apt-cache dumpavail ended with ${code}`);
}

function productOf(lines: readonly string[]): RealProduct {
  const sku = fieldOf(lines, 'Package');
  const at = lines.findIndex((line) => /^Description(-en)?: /.test(line));
  const summary = at < 0 ? '' : fieldOf(lines.slice(at), lines[at]?.split(':')[0] ?? '');
  const continued = at < 0 ? [] : lines.slice(at + 1);
  const end = continued.findIndex((line) => !line.startsWith(' '));
  const long = continued
    .slice(0, end < 0 ? undefined : end)
    .map((line) => (line === ' .' ? '' : line.slice(1)))
    .join('\n');
  return {
    name: cut(summary || sku, MAX_NAME),
    ...(SKU.test(sku) && { sku }),
    description: cut(long || lines.join('\n'), MAX_DESCRIPTION),
  };
}

function fieldOf(lines: readonly string[], field: string): string {
  const prefix = `${field}: `;
  return lines.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? '';
}

function cut(text: string, codePoints: number): string {
  return text.length <= codePoints ? text : [...text].slice(0, codePoints).join('');
}
