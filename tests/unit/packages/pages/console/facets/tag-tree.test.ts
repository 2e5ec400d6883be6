import { expect } from 'chai';
import { childrenOf, pathOf } from '#packages/pages/console/facets/tag-tree.js';

const tags = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([value, count]) => ({ value, count }));

describe('the tree of tags', () => {
  const shown = (path: string, counts: Readonly<Record<string, number>>, areAll = true) =>
    childrenOf(path, tags(counts), areAll).map(({ label, count, isExact }) => `${label} ${isExact ? '' : '≥'}${count}`);

  it('has a level for each part of a path, and a tag beside the path that begins with it', () => {
    const all = { lighting: 9, sale: 8, 'lighting/lamps': 5, 'lighting/lamps/desk': 3, 'kitchen/pans': 2 };
    expect(shown('', all)).to.deep.equal(['lighting 9', 'lighting/ ≥5', 'sale 8', 'kitchen/ 2']);
    expect(shown('lighting/', { 'lighting/lamps': 5, 'lighting/lamps/desk': 3 })).to.deep.equal([
      'lamps 5',
      'lamps/ 3',
    ]);
    expect(childrenOf('lighting/', tags({ 'lighting/lamps/desk': 3 }), true)[0]?.path).to.equal('lighting/lamps/');
  });

  it('counts no path exactly while there are more tags', () => {
    expect(shown('', { 'kitchen/pans': 2, sale: 1 }, false)).to.deep.equal(['kitchen/ ≥2', 'sale 1']);
  });

  it('has tags with empty parts', () => {
    expect(shown('', { '/a': 1, 'b/': 2 })).to.deep.equal(['/ 1', 'b/ 2']);
    expect(shown('b/', { 'b/': 2, 'b//c': 1 })).to.deep.equal(['b/ 2', '/ 1']);
  });

  it('is asked for by the beginning of a path', () => {
    expect(['', 'li', 'lighting/la', 'a/b/'].map(pathOf)).to.deep.equal(['', '', 'lighting/', 'a/b/']);
  });
});
