<?php
// Like matches.py, with PCRE2, with and without the modifier `u`: generated clients lack it. Prints 2 if they differ.
while (($line = fgets(STDIN)) !== false) {
    $words = array_map('base64_decode', explode(' ', rtrim($line, "\n")));
    $pattern = '/' . str_replace('/', '\/', array_shift($words)) . '/';
    foreach ($words as $text) {
        $found = preg_match($pattern . 'u', $text);
        echo $found === preg_match($pattern, $text) ? $found : 2;
    }
    echo "\n";
}
