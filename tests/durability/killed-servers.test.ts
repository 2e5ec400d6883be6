/** Kills the server of a store again and again while two processes write. All other answers meanwhile are 503. */
import { killedServerContract } from '../contract/killed-server.contract.js';
import { ALL_STORES } from '../stores/index.js';
import { sized } from '../support/run-settings.js';

const SIZES = {
  fast: { kills: sized({ gate: 2, night: 100 }), writesPerKill: sized({ gate: 100, night: 1_000 }) },
  slow: { kills: sized({ gate: 1, night: 10 }), writesPerKill: sized({ gate: 50, night: 100 }) },
};

for (const store of ALL_STORES)
  if (store.startServer) killedServerContract(store, store.startServer, SIZES[store.pace]);
