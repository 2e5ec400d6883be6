<?php
// Like matches.py, with PCRE2. The generators of clients write patterns without the modifier `u`, the validators with it.
while (($line = fgets(STDIN)) !== false) {
    [$pattern, $texts] = [null, []];
    foreach (explode(' ', rtrim($line, "\n")) as $at => $word) {
        if ($at === 0) $pattern = '/' . str_replace('/', '\/', base64_decode($word)) . '/u';
        else $texts[] = base64_decode($word);
    }
    foreach ($texts as $text) echo preg_match($pattern, $text);
    echo "\n";
}
