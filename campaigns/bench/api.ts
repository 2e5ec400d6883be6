import type { HttpResponse } from '../../tests/support/http-client.js';

/** How a server names what all of them do. */
export interface Api {
  readonly collection: string;
  item(id: number): string;
  firstPage(limit: number): string;
  nextPage(response: HttpResponse, limit: number): string | undefined;
  readonly createdStatus: number;
  readonly patchType: string;
  readonly hasEntityTags: boolean;
}

/** The service's, which the bare servers imitate. */
export const CATALOGUE: Api = {
  collection: '/v1/products',
  item: (id) => `/v1/products/${id}`,
  firstPage: (limit) => `/v1/products?limit=${limit}`,
  nextPage: ({ headers }) => /<([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1],
  createdStatus: 201,
  patchType: 'application/merge-patch+json',
  hasEntityTags: true,
};

const POCKETBASE_RECORDS = '/api/collections/products/records';

export const POCKETBASE: Api = {
  collection: POCKETBASE_RECORDS,
  item: (id) => `${POCKETBASE_RECORDS}/${`${id}`.padStart(15, '0')}`,
  firstPage: (limit) => `${POCKETBASE_RECORDS}?sort=id&skipTotal=true&perPage=${limit}`,
  nextPage: ({ json: { items } }, limit) => {
    if (items.length < limit) return undefined;
    const after = encodeURIComponent(`id>'${items.at(-1).id}'`);
    return `${POCKETBASE_RECORDS}?sort=id&skipTotal=true&perPage=${limit}&filter=${after}`;
  },
  createdStatus: 200,
  patchType: 'application/json',
  hasEntityTags: false,
};
