import { render } from 'preact';
import { App } from './app.js';
import { chosenTheme, showTheme } from './preferences.js';

const root = document.getElementById('console');
if (!root) throw new Error('The page has no part for the console');
showTheme(chosenTheme());
root.replaceChildren();
render(<App />, root);
