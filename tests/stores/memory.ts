import type { TestStoreProvider } from './provider.js';

export const MEMORY: TestStoreProvider = {
  name: 'memory',
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  beyond: (position) => position.replace(/\d+$/, (change) => `${Number(change) + 1}`),
  create: async () => ({ settings: { STORE: 'memory' }, remove: async () => {} }),
};
