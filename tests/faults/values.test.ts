import { mongoSettings } from '../support/mongo-settings.js';
import { badBodies, randomRecords } from './values/values.contract.js';

badBodies();
randomRecords({ STORE: 'memory' }, 6_000);
randomRecords({ STORE: 'sqlite' }, 3_000);
randomRecords(mongoSettings('values'), 1_000);
