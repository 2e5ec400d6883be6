/** The commands of docs/how-to/backup.md, run as printed there. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const SECTIONS = new Map(
  readFileSync('docs/how-to/backup.md', 'utf8')
    .split(/^##+ /m)
    .map((section) => [/.*/.exec(section)?.[0], section]),
);

/** Returns the first block of a language under a heading. */
export function blockOf(heading: string, language: string): string | undefined {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(SECTIONS.get(heading) ?? '')?.[1];
}

/** Returns a folder in which `npx catalogue` runs this program, as in an installation. */
export function installed(root: string): string {
  const folder = mkdtempSync(join(root, 'installed-'));
  const bin = join(folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  symlinkSync(resolve('bin/catalogue.js'), join(bin, 'catalogue'));
  return folder;
}

/** Runs the first commands under a heading. @param programs a folder with further programs */
export async function runCommands(folder: string, heading: string, programs?: string): Promise<string> {
  const commands = blockOf(heading, 'sh') ?? `echo 'no commands under ${heading}'; false`;
  const { HOME = '' } = process.env;
  const PATH = [...(programs ? [programs] : []), process.env['PATH']].join(delimiter);
  const shell = promisify(execFile)('bash', ['-euc', commands], { cwd: folder, env: { PATH, HOME } });
  return (await shell).stdout;
}
