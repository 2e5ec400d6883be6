import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import { ENDLESS, PRODUCTS, USERS } from '../support/tables.js';
import { codePointOrderContract, type OpenRepository, repositoryContract } from './repository.contract.js';

const open = async (): Promise<OpenRepository> => ({
  products: new MemoryRepository<Product>(PRODUCTS, ENDLESS),
  users: new MemoryRepository<User>(USERS, ENDLESS),
  close: async () => {},
});

repositoryContract('memory', open);
codePointOrderContract('memory', open);
