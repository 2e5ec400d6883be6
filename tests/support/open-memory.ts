import { memoryStorage } from '#src/composition/stores.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

/** Opens the repositories of a new memory store. */
export async function openMemory(budget = ENDLESS): Promise<OpenRepository> {
  const { store, ...storage } = memoryStorage({ budget });
  return { ...storage, close: () => store.close() };
}
