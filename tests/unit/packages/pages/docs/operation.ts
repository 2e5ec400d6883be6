import type { Operation } from '#packages/pages/docs/operations.js';

/** An operation of a document, for tests. */
export function operation(more: Partial<Operation> = {}): Operation {
  return {
    id: 'x',
    method: 'GET',
    path: '/v1/products/{id}',
    summary: '',
    description: '',
    tag: '',
    isDeprecated: false,
    parameters: [],
    responses: [],
    access: { takesKey: true, needsKey: true, scopes: [], others: [] },
    errorCodes: [],
    ...more,
  };
}
