import { runCommand, testExample } from './example-suite.js';

describe('the example in Java', () => {
  testExample((settings) => runCommand('## Java', settings));
});
