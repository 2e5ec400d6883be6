import {
  importMatchContract,
  ORDERS_BY_ID,
  PRODUCTS_BY_ID,
  PRODUCTS_BY_SKU,
  USERS_BY_EMAIL,
} from '../http/import-match.contract.js';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { AT_NIGHT } from '../support/run-settings.js';

// In the gate each field has one store, in turn: `keyed-imports` compares the imports of every store with a model.
for (const [at, by] of [PRODUCTS_BY_ID, PRODUCTS_BY_SKU, USERS_BY_EMAIL, ORDERS_BY_ID].entries())
  for (const [place, store] of LOCAL_STORE_NAMES.entries())
    if (AT_NIGHT || place === at % LOCAL_STORE_NAMES.length) importMatchContract(store, by);
