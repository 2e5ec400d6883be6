import { endUnlessLoaded, requireSupportedNode } from './process/supported-node.js';

requireSupportedNode();
import('./process/run-service.js').then(({ runService }) => runService()).catch(endUnlessLoaded);
