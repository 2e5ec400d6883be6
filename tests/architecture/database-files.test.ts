import { expect } from 'chai';
import { type Module, moduleOf, modulesUnder } from './imports.js';

/** Modules that know where the database lies. */
function knowsDatabase({ path, source }: Module): boolean {
  return path.startsWith('adapters/outbound/sqlite/') || /\bSQLITE_FILE\b|\bstoreLocation\b/.test(source);
}

/** What they may use of Node's file system: it opens no file. */
const OPENS_NOTHING = /^(existsSync|lstatSync|mkdirSync|realpathSync|statSync)$/;
/** The one module that opens files: a new one, and the folder that it is in. */
const NEW_FILE = 'adapters/outbound/sqlite/atomic-file.ts';
const OPENS_NEW = /\bopen\((?:\w+, 'wx'|dirname\()/g;

const FROM_FS = /^import\s+([^;]*?)\s+from\s+'(?:node:)?fs(?:\/promises)?'/gm;
/** An import of the project's own modules opens nothing; those are looked at themselves. */
const OTHERWISE = /\bimport\((?!'\.)|\brequire\b|\bgetBuiltinModule\b|node:child_process/;

function opensFiles(module: Module): boolean {
  const { path, source } = module;
  const names = [...source.matchAll(FROM_FS)].flatMap(([, clause = '']) =>
    clause
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type ')),
  );
  const others = names.filter((name) => !OPENS_NOTHING.test(name));
  if (OTHERWISE.test(source)) return true;
  if (path !== NEW_FILE) return others.length > 0;
  const opened = [...source.matchAll(/\bopen\w*\(/g)].length;
  return (
    !others.every((name) => /^(link|lstat|open|rm)$/.test(name)) ||
    opened !== [...source.matchAll(OPENS_NEW)].length
  );
}

describe('the database, its log and its shared memory', () => {
  const modules = modulesUnder('src');
  const knowing = modules.filter(knowsDatabase);

  it('are opened by SQLite alone: the end of another descriptor would end the locks of SQLite', () => {
    expect(knowing.length).to.be.greaterThan(20);
    expect(knowing.filter(opensFiles).map(({ path }) => path)).to.deep.equal([]);
  });

  const sqlite = 'adapters/outbound/sqlite/x.ts';
  for (const [path, breach] of [
    [sqlite, "import { closeSync, openSync } from 'node:fs';"],
    [sqlite, "import {\n  statSync,\n  readFileSync,\n} from 'node:fs';"],
    [sqlite, "import * as fs from 'node:fs';"],
    [sqlite, "import fs from 'fs';"],
    [sqlite, "import { open } from 'node:fs/promises';"],
    [sqlite, "const fs = await import('node:fs');"],
    [sqlite, "import { execFile } from 'node:child_process';"],
    ['composition/x.ts', "import { readFileSync } from 'node:fs';\nreadFileSync(settings.SQLITE_FILE);"],
    [NEW_FILE, "import { open } from 'node:fs/promises';\nawait open(target, 'r');"],
    [NEW_FILE, "import { readFile } from 'node:fs/promises';"],
  ] as const) {
    it(`are not opened otherwise: ${breach.replaceAll('\n', ' ')}`, () => {
      const module = moduleOf(path, breach);
      expect(knowsDatabase(module) && opensFiles(module)).to.equal(true);
    });
  }
});
