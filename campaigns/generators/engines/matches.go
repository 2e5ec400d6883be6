// Like matches.py, with RE2.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		pattern := regexp.MustCompile(decoded(words[0]))
		for _, word := range words[1:] {
			if pattern.MatchString(decoded(word)) {
				fmt.Print("1")
			} else {
				fmt.Print("0")
			}
		}
		fmt.Println()
	}
}

func decoded(word string) string {
	text, err := base64.StdEncoding.DecodeString(word)
	if err != nil {
		panic(err)
	}
	return string(text)
}
