import { expect } from 'chai';
import { importedNames, type Module, moduleOf, modulesUnder } from './imports.js';

const SQLITE = 'adapters/outbound/sqlite/';

/** Returns whether a module knows the path of the database. */
function knowsDatabase({ path, source }: Module): boolean {
  return path.startsWith(SQLITE) || /\bSQLITE_FILE\b|\bstoreLocation\b/.test(source);
}

/** Types, and the functions of `node:fs` that such a module may use. None opens a file. */
const OPENS_NOTHING = /^(type .*|existsSync|lstatSync|mkdirSync|readlinkSync|realpathSync|statSync|statfsSync)$/;
/** The only module that opens files: it creates a file and syncs folders. */
const NEW_FILE = `${SQLITE}backup/atomic-file.ts`;
const OPENS_NEW = /\bopen\((?:\w+, 'wx'|path, 'r'\); \/\/ a folder)/g;

const FROM_FS = /^import\s+([^;]*?)\s+from\s+'(?:node:)?fs(?:\/promises)?'/gm;
/** Other ways to a file. A dynamic import of the project's own modules is fine: they are checked themselves. */
const OTHER_WAYS = /\bimport\((?!'\.)|\brequire\b|\bgetBuiltinModule\b|node:child_process/;

function opensFiles(module: Module): boolean {
  const { path, source } = module;
  const others = importedNames(source, FROM_FS).filter((name) => !OPENS_NOTHING.test(name));
  if (OTHER_WAYS.test(source)) return true;
  if (path !== NEW_FILE) return others.length > 0;
  const opened = [...source.matchAll(/\bopen\w*\(/g)].length;
  return (
    !others.every((name) => /^(link|lstat|mkdir|open|readdir|rename|rm|rmdir)$/.test(name)) ||
    opened !== [...source.matchAll(OPENS_NEW)].length
  );
}

describe('the files of the SQLite database', () => {
  const modules = modulesUnder('src');
  const aware = modules.filter(knowsDatabase);

  it('are opened only by SQLite, because closing another descriptor releases its locks', () => {
    expect(aware.length).to.be.greaterThan(20);
    expect(aware.map(({ path }) => path)).to.include(NEW_FILE);
    expect(aware.filter(opensFiles).map(({ path }) => path)).to.deep.equal([]);
  });

  const sqlite = `${SQLITE}x.ts`;
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
  ] as const)
    it(`finds a breach: ${breach.replaceAll('\n', ' ')}`, () => {
      const module = moduleOf(path, breach);
      expect(knowsDatabase(module) && opensFiles(module)).to.equal(true);
    });
});
