import type { TestStoreProvider } from './provider.js';

export const MEMORY: TestStoreProvider = {
  name: 'memory',
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  create: async () => ({ settings: { STORE: 'memory' }, remove: async () => {} }),
};
