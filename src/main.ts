import { requireSupportedNode } from './process/supported-node.js';
import { endUnlessLoaded } from './shared/program.js';

requireSupportedNode();
import('./process/run-service.js').then(({ runService }) => runService()).catch(endUnlessLoaded);
