import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFile, orTargetError } from '#src/adapters/outbound/sqlite/backup/atomic-file.js';
import { BackupTargetError } from '#src/application/ports/store.js';
import { expectError } from '../../../../../support/expect-refusal.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

const LATER = Buffer.from('later');

describe('an AtomicFile', () => {
  const folder = temporaryFolder();
  const target = join(folder, 'b.sqlite');
  afterEach(() => rmSync(target, { force: true }));

  for (const [step, take] of [
    ['append', (file: AtomicFile) => file.append(Buffer.from('x'))],
    ['publication', (file: AtomicFile) => file.publish()],
  ] as const)
    it(`is given up at the next ${step} when another file with the same target begins`, async () => {
      const first = await AtomicFile.create(target);
      await first.append(Buffer.from('first'));
      const second = await AtomicFile.create(target);
      await second.append(LATER);
      await expectError(take(first), BackupTargetError, /b\.sqlite cannot be written: its partial file was deleted/);
      await first.close();
      await second.publish();
      await second.close();
      expect(readdirSync(folder)).to.deep.equal(['b.sqlite']);
      expect(readFileSync(target)).to.deep.equal(LATER);
    });

  describe('on a file system without links', () => {
    const original = fs.link;
    let code: string;
    let beforeLink: () => void;
    before(() => {
      fs.link = async () => {
        beforeLink();
        throw Object.assign(new Error('no links'), { code });
      };
      syncBuiltinESMExports();
    });
    after(() => {
      fs.link = original;
      syncBuiltinESMExports();
    });
    beforeEach(() => {
      [code, beforeLink] = ['EPERM', () => {}];
    });
    const made = async () => {
      const file = await AtomicFile.create(target);
      await file.append(LATER);
      return file;
    };

    for (const one of ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
      it(`gets its name, and leaves no other file: ${one}`, async () => {
        code = one;
        const file = await made();
        await file.publish();
        await file.close();
        expect(readdirSync(folder)).to.deep.equal(['b.sqlite']);
        expect(readFileSync(target)).to.deep.equal(LATER);
        expect(statSync(target).mode & 0o777).to.equal(0o600);
      });

    it('replaces no file that another process creates meanwhile', async () => {
      const file = await made();
      beforeLink = () => writeFileSync(target, 'mine');
      await expectError(file.publish(), BackupTargetError, /exists\. A backup replaces no file\.$/);
      await file.close();
      expect(readFileSync(target, 'utf8')).to.equal('mine');
      expect(readdirSync(folder)).to.deep.equal(['b.sqlite']);
    });

    it('leaves no file if it cannot get its name', async () => {
      const file = await made();
      beforeLink = () => rmSync(file.partial);
      const publication = orTargetError(target, () => file.publish());
      await expectError(publication, BackupTargetError, /b\.sqlite cannot be written: no such file .*\(ENOENT\)\.$/);
      await file.close();
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    it('is not tried otherwise after another refusal', async () => {
      code = 'EIO';
      const file = await made();
      expect(await file.publish().catch((error: unknown) => error)).to.have.property('code', 'EIO');
      await file.close();
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  });
});
