import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

/** What a code sample printed. */
export interface Printed {
  readonly status: number;
  readonly body: string;
}

type Runner = (code: string, folder: string, env: NodeJS.ProcessEnv) => Promise<string>;

/** Pastes a code sample into a file of a folder, checks its form with the tools of its language, and runs it there. */
export async function runCode(language: string, code: string, folder: string, key: string): Promise<Printed> {
  const { PATH, HOME } = process.env;
  const runner = RUNNERS[language];
  if (runner === undefined) throw new Error(`There is no runner for ${language}.`);
  return printedBy(await runner(code, folder, { PATH, HOME, API_KEY: key }));
}

const RUNNERS: Readonly<Record<string, Runner>> = {
  curl: async (code, cwd, env) => (await run('sh', ['-c', code], { cwd, env })).stdout,

  // The first line says how to run it.
  JavaScript: async (code, cwd, env) => {
    await writeFile(join(cwd, 'request.mjs'), code);
    const [, command = ''] = /^\/\/ Save as request\.mjs\. Run: (.*)\n/.exec(code) ?? [];
    return (await run('sh', ['-c', command], { cwd, env })).stdout;
  },

  Python: async (code, cwd, env) => {
    await writeFile(join(cwd, 'request.py'), code);
    return (await run('python3', ['-W', 'error', 'request.py'], { cwd, env })).stdout;
  },

  Go: async (code, cwd, env) => {
    await writeFile(join(cwd, 'main.go'), code);
    expect((await run('gofmt', ['-d', 'main.go'], { cwd, env })).stdout).to.equal('');
    await run('go', ['vet', 'main.go'], { cwd, env });
    return (await run('go', ['run', 'main.go'], { cwd, env })).stdout;
  },
};

/** Reads the status and the body from what a sample printed; curl prints the headers too. */
function printedBy(output: string): Printed {
  const [, status] = /^(?:HTTP\/1\.1 )?(\d{3})\b/.exec(output) ?? [];
  const start = output.startsWith('HTTP/') ? output.indexOf('\r\n\r\n') + 4 : output.indexOf('\n') + 1;
  return { status: Number(status), body: output.slice(start).replace(/\n$/, '') };
}
