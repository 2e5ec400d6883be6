import {
  importMatchContract,
  ORDERS_BY_ID,
  PRODUCTS_BY_ID,
  PRODUCTS_BY_SKU,
  USERS_BY_EMAIL,
} from '../http/import-match.contract.js';

for (const by of [PRODUCTS_BY_SKU, PRODUCTS_BY_ID, USERS_BY_EMAIL]) importMatchContract('memory', by);
for (const by of [USERS_BY_EMAIL, ORDERS_BY_ID]) importMatchContract('sqlite', by);
