import { expect } from 'chai';
import {
  AppError,
  DuplicateValue,
  duplicateValue,
  fieldIssue,
  jsonPointer,
  MAX_ISSUES,
  notFound,
  PreconditionFailed,
  queryTooExpensive,
  unavailable,
} from '#src/domain/errors.js';

describe('errors of the domain', () => {
  it('have the code of their cause', () => {
    expect(notFound()).to.be.instanceOf(AppError).and.include({ code: 'not_found', name: 'AppError' });
    expect(notFound().details).to.deep.equal([]);
    expect(queryTooExpensive().code).to.equal('query_too_expensive');
    const cause = new Error('x');
    expect(unavailable('busy', cause)).to.include({ code: 'unavailable', message: 'busy', cause });
    expect(unavailable('busy').details).to.deep.equal([]);
    const current = { id: 1, version: 2, createdAt: 0, updatedAt: 0, fields: {} };
    expect(new PreconditionFailed(current)).to.include({ code: 'precondition_failed', current });
  });

  it('name the field whose value another record has', () => {
    const error = duplicateValue('sku');
    expect(error).to.be.instanceOf(AppError).and.include({ code: 'duplicate_value', field: 'sku' });
    const detail = { code: 'duplicate_value', message: 'Another record has this sku.', in: 'body', pointer: '/sku' };
    expect(error.details).to.deep.equal([detail]);
    expect(error.ownedBy(7)).to.be.instanceOf(DuplicateValue).and.include({ field: 'sku' });
    expect(error.ownedBy(7).message).to.equal(error.message);
    expect(error.ownedBy(7).details).to.deep.equal([{ ...detail, id: 7 }]);
  });

  it('have a message and a pointer in each issue', () => {
    expect(fieldIssue('invalid_type', [], 'must be an object')).to.deep.equal({
      code: 'invalid_type',
      message: 'The body must be an object.',
      in: 'body',
      pointer: '',
    });
    expect(fieldIssue('too_long', ['items', 0, 'a/~b'], 'must be short')).to.deep.equal({
      code: 'too_long',
      message: 'items.0.a/~b must be short.',
      in: 'body',
      pointer: '/items/0/a~1~0b',
    });
    const { message } = fieldIssue('required', ['x'.repeat(101)], 'is required');
    expect(message).to.equal(`${'x'.repeat(80)} is required.`);
    expect(jsonPointer(['~~//', 7])).to.equal('/~0~0~1~1/7');
    expect(MAX_ISSUES).to.equal(1_000);
  });

  it('have the pointer to the parent of a name that is longer than any valid one', () => {
    const longest = `attributes.${'\u{1f4a1}'.repeat(64)}`;
    expect(jsonPointer([longest])).to.equal(`/${longest}`);
    expect(jsonPointer(['~'.repeat(256)])).to.equal(`/${'~0'.repeat(256)}`);
    expect(jsonPointer(['~'.repeat(257)])).to.equal('');
    expect(jsonPointer(['attributes', '/'.repeat(1_000_000)])).to.equal('/attributes');
    expect(jsonPointer(['x'.repeat(257), 'y'])).to.equal('');
  });
});
