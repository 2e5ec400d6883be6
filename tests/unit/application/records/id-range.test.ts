import { expect } from 'chai';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import { hasOnlyIdFilters, idRange, isAscendingRead } from '#src/application/records/block-scan.js';
import { at, by } from '../../../contract/repository/records.js';

const INFINITE = Number.POSITIVE_INFINITY;

describe('idRange', () => {
  const rangeOf = (filters: readonly Filter[], sort = 'id', from?: Position) => {
    const { low, high } = idRange({ filters, order: by(sort), ...(from && { from }) });
    return [low, high];
  };
  type Operator = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte';
  const compared = (operator: Operator, value: number): Filter => ({ field: 'id', operator, value });

  it('has all ids without a filter', () => {
    expect(rangeOf([])).to.deep.equal([0, INFINITE]);
  });

  it('has the ids that a comparison leaves, also with a number between two ids', () => {
    const ranges = (value: number) =>
      (['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const)
        .map((operator) => `${operator} ${rangeOf([compared(operator, value)]).join('–')}`)
        .join(', ');
    expect(ranges(5)).to.equal('eq 5–5, ne 0–Infinity, lt 0–4, lte 0–5, gt 6–Infinity, gte 5–Infinity');
    expect(ranges(5.5)).to.equal('eq 6–5, ne 0–Infinity, lt 0–5, lte 0–5, gt 6–Infinity, gte 6–Infinity');
  });

  it('spans several ids, and is what all filters leave', () => {
    const among: Filter = { field: 'id', operator: 'in', values: [9, 3, 6] };
    expect(rangeOf([among])).to.deep.equal([3, 9]);
    expect(rangeOf([among, compared('gt', 4), compared('lte', 7)])).to.deep.equal([5, 7]);
    expect(rangeOf([compared('gte', 4), compared('gte', 2), compared('lt', 9), compared('lt', 12)])).to.deep.equal([
      4, 8,
    ]);
  });

  it('ignores filters on other fields', () => {
    const others: Filter[] = [
      { field: 'price.amount', operator: 'eq', value: 5 },
      { field: 'name', operator: 'in', values: ['a'] },
      { field: 'sku', operator: 'exists', value: true },
      { field: 'q', operator: 'search', words: ['a'] },
    ];
    expect(rangeOf(others)).to.deep.equal([0, INFINITE]);
  });

  it('begins or ends at the position of a list by id', () => {
    const inclusive = { ...at('after', 7), inclusive: true };
    expect(rangeOf([], 'id', at('after', 7))).to.deep.equal([8, INFINITE]);
    expect(rangeOf([], 'id', inclusive)).to.deep.equal([7, INFINITE]);
    expect(rangeOf([], 'id', at('before', 7))).to.deep.equal([0, 6]);
    expect(rangeOf([], '-id', at('after', 7))).to.deep.equal([0, 6]);
    expect(rangeOf([], '-id', inclusive)).to.deep.equal([0, 7]);
    expect(rangeOf([], '-id', at('before', 7))).to.deep.equal([8, INFINITE]);
    expect(rangeOf([compared('gt', 9)], 'id', at('after', 7))).to.deep.equal([10, INFINITE]);
  });

  it('does not depend on the position of a list by another field', () => {
    expect(rangeOf([], 'createdAt,id', at('after', 5, 7))).to.deep.equal([0, INFINITE]);
  });
});

describe('isAscendingRead', () => {
  it('depends on the direction of the list and on the side of the position', () => {
    const ascending = (sort: string, side?: Position['side']) =>
      isAscendingRead({ order: by(sort), ...(side && { from: at(side, 1) }) });
    expect(['id', '-id'].map((sort) => ascending(sort))).to.deep.equal([true, false]);
    expect(['id', '-id'].map((sort) => ascending(sort, 'after'))).to.deep.equal([true, false]);
    expect(['id', '-id'].map((sort) => ascending(sort, 'before'))).to.deep.equal([false, true]);
  });
});

describe('hasOnlyIdFilters', () => {
  it('is true for words with filters on the id only', () => {
    const words: Filter = { field: 'q', operator: 'search', words: ['a'] };
    expect(hasOnlyIdFilters([words])).to.equal(true);
    expect(hasOnlyIdFilters([words, { field: 'id', operator: 'gt', value: 5 }])).to.equal(true);
    expect(hasOnlyIdFilters([words, { field: 'sku', operator: 'exists', value: true }])).to.equal(false);
  });
});
