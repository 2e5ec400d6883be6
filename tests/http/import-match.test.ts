import { importMatchContract, PRODUCTS_BY_SKU } from './import-match.contract.js';

// The other resources, and each of their fields, are in tests/cases.
importMatchContract('sqlite', PRODUCTS_BY_SKU);
