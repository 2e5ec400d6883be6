import { runCommand, testExample } from './example-suite.js';

describe('the example in Python', () => {
  testExample((settings) => runCommand('## Python', settings));
});
