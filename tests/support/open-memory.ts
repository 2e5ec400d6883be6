import { memoryStorage } from '#src/composition/stores.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

export async function openMemory(budget = ENDLESS): Promise<OpenRepository> {
  const { store, ...stored } = memoryStorage({ budget });
  return { ...stored, close: () => store.close() };
}
