import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFile } from '#src/adapters/outbound/sqlite/atomic-file.js';
import { BackupTargetError } from '#src/application/ports/backup.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';

const LATER = Buffer.from('later');

describe('an AtomicFile', () => {
  const folder = temporaryFolder();
  const target = join(folder, 'b.sqlite');
  afterEach(() => rmSync(target, { force: true }));

  const expectGivenUp = async (step: Promise<void>) => {
    const error = await step.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(error).to.be.instanceOf(BackupTargetError);
    expect((error as Error).message).to.match(/b\.sqlite cannot be written: its partial file was deleted/);
  };

  for (const [step, take] of [
    ['append', (file: AtomicFile) => file.append(Buffer.from('x'))],
    ['publication', (file: AtomicFile) => file.publish()],
  ] as const)
    it(`is given up at the next ${step} when another file with the same target begins`, async () => {
      const first = await AtomicFile.create(target);
      await first.append(Buffer.from('first'));
      const second = await AtomicFile.create(target);
      await second.append(LATER);
      await expectGivenUp(take(first));
      await first.close();
      await second.publish();
      await second.close();
      expect(readdirSync(folder)).to.deep.equal(['b.sqlite']);
      expect(readFileSync(target)).to.deep.equal(LATER);
    });
});
