import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS_DOCUMENT, settingsDocument } from '../../../scripts/settings-document.js';

describe('docs/reference/settings.md', () => {
  const text = readFileSync(SETTINGS_DOCUMENT, 'utf8');

  it('is the output of npm run docs', () => {
    expect(text).to.equal(settingsDocument());
  });

  it('has a default, values and a meaning for every setting', () => {
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (.+) \| (.+) \| (.+) \|$/gm)];
    expect(rows).to.have.length.greaterThan(25);
    for (const [, name, ...cells] of rows)
      for (const cell of cells) expect(cell, name).to.not.match(/undefined|object/);
    for (const [, name, , , meaning] of rows) expect(meaning, name).to.match(/^[A-Z].{15,}\.$/);
  });
});
