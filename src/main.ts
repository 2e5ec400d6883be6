import { requireSupportedNode } from './supported-node.js';

requireSupportedNode();
import('./run-service.js').then(({ runService }) => runService());
