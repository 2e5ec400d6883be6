import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import { storageOf } from '#src/composition/storage.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

/** Opens the repositories of a new memory store. */
export async function openMemory(budget = ENDLESS): Promise<OpenRepository> {
  const { store, ...storage } = storageOf(memoryStorage({ budget }));
  return { ...storage, close: () => store.close() };
}
