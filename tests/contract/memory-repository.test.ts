import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import type { Product } from '#src/domain/product.js';
import { repositoryContract } from './repository.contract.js';

repositoryContract('memory', async () => ({
  products: new MemoryRepository<Product>({ unique: ['sku'], firstId: 1 }),
  close: async () => {},
}));
