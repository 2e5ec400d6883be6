import { createCatalogue } from 'product-catalogue-client';

const catalogue = createCatalogue({ baseUrl: 'https://localhost:8443', token: process.env['API_KEY'] });

const lamp = await catalogue.products.create({ name: 'Lamp', price: { amount: 1999, currency: 'EUR' } });
await catalogue.products.edit(lamp.id, (product) => ({ ...product, name: `Bright ${product.name}` }));
for await (const { id, name } of catalogue.products.list({ 'price.amount:gte': 1000, sort: ['name'] }))
  console.log(id, name);
