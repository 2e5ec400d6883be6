import { MemoryRepository } from '#src/adapters/outbound/memory/memory-repository.js';
import { repositories } from '#src/composition/tables.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

export async function openMemory(budget = ENDLESS): Promise<OpenRepository> {
  return {
    ...repositories((table) => new MemoryRepository(table, budget)),
    close: async () => {},
  };
}
