import { expect } from 'chai';
import { mongoSettings } from '../support/mongo-settings.js';
import { hostileTexts } from './injection.contract.js';
import { CONTROL_PAYLOADS, PAYLOADS, UNDECLARED } from './payloads.js';

const ALL = { payloads: PAYLOADS, controls: CONTROL_PAYLOADS, undeclared: UNDECLARED };

hostileTexts({ STORE: 'sqlite' }, ALL);
hostileTexts(mongoSettings('injection'), ALL);

it('there are at least 280 hostile texts', () => {
  expect(PAYLOADS.length + CONTROL_PAYLOADS.length).to.be.at.least(280);
});
