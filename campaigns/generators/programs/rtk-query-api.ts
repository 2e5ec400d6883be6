/** Sends the requests of RTK Query's endpoints. */
import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';

const { CATALOGUE_URL: baseUrl = '', CATALOGUE_TOKEN: token = '' } = process.env;

export const api = createApi({
  baseQuery: fetchBaseQuery({
    baseUrl,
    prepareHeaders: (headers) => headers.set('Authorization', `Bearer ${token}`),
  }),
  endpoints: () => ({}),
});
