#!/usr/bin/env node
// The command `product-catalogue-service` of package.json: the service, or with arguments a command of `catalogue`.
if (process.argv.length === 2) process.argv.push('serve');
import('./catalogue.js');
