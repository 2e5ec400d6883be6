import type { StoreRegistration } from './registration.js';

export const MEMORY: StoreRegistration = {
  processes: 'one',
  settings: {},
  load: async () => (await import('../../adapters/outbound/memory/storage.js')).memoryStorage,
};
