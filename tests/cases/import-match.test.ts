import {
  importMatchContract,
  ORDERS_BY_ID,
  PRODUCTS_BY_ID,
  PRODUCTS_BY_SKU,
  USERS_BY_EMAIL,
} from '../http/import-match.contract.js';
import { LOCAL_STORE_NAMES } from '../stores/index.js';

for (const store of LOCAL_STORE_NAMES)
  for (const by of [PRODUCTS_BY_SKU, PRODUCTS_BY_ID, USERS_BY_EMAIL, ORDERS_BY_ID])
    importMatchContract(store, by);
