import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS, PRODUCTS, USERS } from './tables.js';

export async function openMemory(): Promise<OpenRepository> {
  return {
    products: new MemoryRepository<Product>(PRODUCTS, ENDLESS),
    users: new MemoryRepository<User>(USERS, ENDLESS),
    close: async () => {},
  };
}
