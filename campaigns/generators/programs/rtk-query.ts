/** Uses the endpoints of @rtk-query/codegen-openapi. */
import assert from 'node:assert/strict';
import { configureStore } from '@reduxjs/toolkit';
import { catalogue } from './catalogue/api';

const store = configureStore({
  reducer: { [catalogue.reducerPath]: catalogue.reducer },
  middleware: (all) => all().concat(catalogue.middleware),
});
const { createProduct, listProducts } = catalogue.endpoints;

const lamp = { name: 'rtk lamp', sku: 'rtk-1', price: { amount: 4990, currency: 'EUR' } };
const created = await store.dispatch(createProduct.initiate({ productInput: lamp })).unwrap();
assert(created.id > 0 && created.name === lamp.name);

const filters = { 'name.prefix': 'rtk ', 'price.amount.gte': 4990, 'sku.in': ['rtk-1', 'rtk-2'] };
const request = store.dispatch(listProducts.initiate({ sort: ['name', '-id'], ...filters }));
const found = await request.unwrap();
assert(Array.isArray(found) && found.length === 1 && found[0].id === created.id);
request.unsubscribe();
